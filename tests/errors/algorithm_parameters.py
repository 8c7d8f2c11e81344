import vgraph as vg


@vg.algorithm
def main():
    return 1
