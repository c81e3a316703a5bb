"""What layers compute above operations, on values of any dialect: no names, no defaults, no drawing of random numbers."""
