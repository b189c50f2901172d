"""python -m tracediff"""
from .command import program

program()
