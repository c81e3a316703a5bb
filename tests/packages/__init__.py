"""Other people's packages on retrograde, beside the frameworks that they were written for."""
