"""Ansible inventories: groups, hosts, and the description that each host sees."""
