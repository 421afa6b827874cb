"""Machinery: what runs the student's exercises."""
