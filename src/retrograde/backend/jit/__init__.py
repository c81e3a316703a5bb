"""Machine code that is written here, where NumPy's passes and BLAS are slow: translated by LLVM, if llvmlite is installed.

`llvm` writes and translates functions, `vectors` their instructions for many numbers at a time. The other modules offer
NumPy functions, each of which says when it does not apply.
"""
