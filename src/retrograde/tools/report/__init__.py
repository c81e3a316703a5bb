"""`retrograde run --report`: a page about a run: losses, gradients, updates, dead units, time and memory by line.

watch.py collects while the program runs, series.py keeps what goes over the steps in little memory, model.py makes plain data
of it, pages/report.html shows that; program.py puts it around a program.
"""
