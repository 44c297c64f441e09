import type { OpenApiDocument } from "../../src/http/openapi-document.ts";
import { indexPath, openIndexReader } from "../../src/index/database.ts";
import { apiPlugins } from "../../src/routes/plugins.ts";
import { runHttp } from "./http.ts";
import { startTestNode, type TestNode } from "./node.ts";
import { expectMatchesOpenApi } from "./openapi.ts";

/** The API over a test node, on a real socket and a real read connection. */
export interface TestApi extends AsyncDisposable {
  readonly node: TestNode;
  readonly url: string;
  readonly document: OpenApiDocument;
  /** Names of the statements that reads ran since the last call. */
  takeStatements(): string[];
  /**
   * Asks for a path within `/v2/svc`; fails when the answer is not as the OpenAPI document says. The route is the path
   * without its query.
   */
  get(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
}

export async function startTestApi(
  options: { notificationWindowSecs?: number } = {},
): Promise<TestApi> {
  const { notificationWindowSecs = 3600 } = options;
  const node = startTestNode();
  const db = openIndexReader(indexPath(node.dir));
  let statements: string[] = [];
  db.onStatement = (name) => statements.push(name);
  const http = runHttp({
    plugins: apiPlugins({ db, clock: node.clock, maxIds: 350, notificationWindowSecs }),
    clock: node.clock,
  });
  const document = await http.server.openApi();
  return {
    node,
    url: http.url,
    document,
    takeStatements() {
      const taken = statements;
      statements = [];
      return taken;
    },
    async get(path) {
      const response = await fetch(http.api(path));
      const body = (await response.json()) as Record<string, unknown>;
      const route = `/v2/svc${path.split("?")[0]}`;
      expectMatchesOpenApi(document, "get", route, response.status, body);
      return { status: response.status, body };
    },
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      db[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}
