"""What Ansible's plugins do, as plain functions; the plugins themselves only hand values over."""
