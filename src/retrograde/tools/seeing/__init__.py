"""What the pictures of a program stand on: where its operations are called, what values hold, how long kernels take."""
