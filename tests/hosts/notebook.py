"""Runs a notebook in its folder, with a Python that has nbclient.

    usage: notebook.py NOTEBOOK OUT                with all outputs
           notebook.py --stored RAN OUT            from a notebook that was run, with the outputs to store: without the
                                                   pages, which are large and which sites do not display
"""
import json
import os
import sys


def run(path):
    import nbclient
    import nbformat
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": os.path.dirname(path)}}).execute()
    return json.loads(nbformat.writes(notebook))


def stored(path):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)  # times
        for output in cell.get("outputs", ()):
            if "".join(output.get("data", {}).get("text/html", "")).startswith("<iframe "):
                del output["data"]["text/html"]
    notebook["metadata"]["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    *keep, source, out = sys.argv[1:]
    made = stored(source) if keep else run(os.path.abspath(source))
    with open(out, "w", encoding="utf-8") as file:
        json.dump(made, file, indent=1, ensure_ascii=False)
        file.write("\n")
