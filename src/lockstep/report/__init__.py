"""What people read: findings, tables and the plan, as text."""
