"""Operators on a graph of four nodes, with NumPy alone."""

import numpy as np

import pantile

# Row 0 holds sources, row 1 targets; node i of the result looks at the edges that end in i.
graph = pantile.Graph.from_edge_index(np.array([[1, 2, 3, 0], [0, 0, 0, 2]]), num_nodes=4)
x = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
weights = np.array([0.5, 0.5, 1.0, 2.0], dtype=np.float32)

print("sum ", pantile.spmm(graph, x).tolist())
print("mean", pantile.spmm(graph, x, reduce="mean").tolist())
print("weighted", pantile.spmm(graph, x, weights).tolist())
print("a dot product per edge", pantile.sddmm(graph, x, x).ravel().tolist())
print("softmax over incoming edges", pantile.edge_softmax(graph, weights).round(3).tolist())

# Bad input is an error with a place, not a crash and not another graph.
try:
    pantile.Graph.from_edge_index(np.array([[1, 5000], [0, 0]]), num_nodes=4)
except pantile.Error as error:
    print("refused:", error)
else:
    raise SystemExit("an id outside the graph was accepted")
