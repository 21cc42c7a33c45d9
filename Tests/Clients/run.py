"""Generates clients from the OpenAPI document, runs a storefront with one of them, and compares the server with the document.

Usage: run.py AISLE [EXAMPLES]; EXAMPLES is the number of random requests per operation, 20 by default.
"""
import glob, importlib, json, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, f"{ROOT}/Tests/Faults")

import harness

AISLE = os.path.abspath(sys.argv[1])
EXAMPLES = sys.argv[2] if len(sys.argv) > 2 else "20"
DOCUMENT = f"{ROOT}/Sources/CatalogHTTP/openapi.json"
TOOLS = os.path.dirname(sys.executable)
# The seed of the random requests, so that a difference can be found again.
SEED = "20261124"


def tool(folder, name, *words, limit=300, environment=None):
    """Runs a tool of the virtual environment; returns its output."""
    done = subprocess.run([f"{TOOLS}/{name}", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=limit, env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"{name} failed:\n{done.stdout[-20000:]}"
    return done.stdout


def generate(folder):
    """Generates a client and models, both without a warning."""
    output = tool(folder, "openapi-python-client", "generate", "--path", DOCUMENT, "--config", f"{HERE}/openapi-python-client.yaml",
                  "--output-path", f"{folder}/client")
    assert not re.search("warning|error|unsupported|unable", output, re.I), output
    operations = sum(isinstance(operation, dict) and "operationId" in operation
                     for methods in json.load(open(DOCUMENT))["paths"].values() for operation in methods.values())
    modules = [name for name in glob.glob(f"{folder}/client/aisle_client/api/*/*.py") if not name.endswith("__init__.py")]
    assert len(modules) == operations, f"the client has {len(modules)} of {operations} operations"
    output = tool(folder, "datamodel-codegen", "--input", DOCUMENT, "--input-file-type", "openapi", "--output", f"{folder}/models.py",
                  "--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin")
    assert not output.strip(), output
    sys.path.insert(0, f"{folder}/client")
    for module in modules:
        importlib.import_module(os.path.relpath(module, f"{folder}/client")[:-3].replace("/", "."))
    print(f"generated a client of {operations} operations, and models")


def validate(base, token):
    """Validates requests and responses with openapi-core, and a page with the generated models."""
    import requests
    from openapi_core import Config, OpenAPI
    from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse

    with open(DOCUMENT) as file:
        document = json.load(file)
    document["servers"] = [{"url": base}]
    # openapi-core does not know that a problem is JSON.
    api = OpenAPI.from_dict(document, Config(extra_media_type_deserializers={"application/problem+json": json.loads}))
    for path in ("/v1/stores", "/v1/stores/corner", "/v1/stores/corner/shelves", "/v1/stores/corner/shelves/dairy",
                 "/v1/stores/corner/shelves/dairy/products?sort=unit_price&facets=brand,price", "/v1/stores/corner/products/C1007",
                 "/v1/stores/corner/shelves/dairy/order", "/v1/stores/corner/shelves/dairy/order/diff?from_sort=price&to_sort=name",
                 "/v1/me/settings", "/v1/me/lists", "/v1/stores/nowhere"):
        headers = {"authorization": f"Bearer {token}"}
        request = RequestsOpenAPIRequest(requests.Request("GET", base + path, headers=headers))
        api.validate_request(request)
        api.validate_response(request, RequestsOpenAPIResponse(requests.get(base + path, headers=headers, timeout=30)))
    page = requests.get(f"{base}/v1/stores/corner/shelves/dairy/products", timeout=30)
    importlib.import_module("models").Page.model_validate_json(page.content)


def main():
    folder = tempfile.mkdtemp(prefix="aisle-clients-")
    os.chmod(folder, 0o755)
    database = server = None
    try:
        generate(folder)
        database = harness.Database(AISLE)
        server = harness.Server(AISLE, database.folder, database.dsn, AISLE_DEMO="on")
        token = database.token("ann", "catalog:write")
        sys.path[:0] = [folder, HERE]
        importlib.import_module("storefront").run(server.base, token)
        print("the storefront of the generated client works")
        validate(server.base, token)
        print("openapi-core accepts the requests and responses")
        output = tool(folder, "schemathesis", "--config-file", f"{HERE}/schemathesis.toml", "run", DOCUMENT, "--url", server.base,
                      "--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--seed", SEED, "--no-color", limit=3000,
                      environment={"AISLE_TOKEN": token, "PYTHONPATH": HERE})
        print(re.search(r"Test cases:\n\s+(.*)", output)[1])
        assert server.is_running
        print("the server does what its OpenAPI document says")
    finally:
        if server:
            server.stop()
        if database:
            database.close()
        shutil.rmtree(folder, ignore_errors=True)
    print("client tests passed")


main()
