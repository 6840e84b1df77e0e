"""The functions of the array API standard over the formats."""
