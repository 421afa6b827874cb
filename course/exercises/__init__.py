"""What runs the student's code, and says clearly where it went wrong when it does."""
