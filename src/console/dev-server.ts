/**
 * Serves the console from its sources, and replaces changed modules in the open page: `bun run dev:console [<url of a node>]`. It listens
 * on the port after the node's, and forwards everything but the documents to the node. The page runs without its policies here.
 */
import page from "./web/index.html";

const node = new URL(process.argv[2] ?? "http://127.0.0.1:8080");
/** The path at which Bun serves the document with its code for replacing modules. */
const SOURCE_PAGE = "/dev-page";
const DOCUMENT = /^\/$|^\/console(\/(?!(a|api|op|demo)\/)|$)/;
const SETTINGS = /name="console-settings" content="[^"]*"/;

const server: Bun.Server<unknown> = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(node.port || 80) + 1,
  idleTimeout: 0,
  development: { hmr: true, console: true },
  routes: { [SOURCE_PAGE]: page },
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (!DOCUMENT.test(pathname)) return forward(request, pathname + search);
    const [source, served] = await Promise.all([
      fetch(new URL(SOURCE_PAGE, server.url)).then((response) => response.text()),
      fetch(new URL(pathname + search, node), { headers: { accept: "text/html" } }).then((response) =>
        response.text(),
      ),
    ]);
    const [settings] = SETTINGS.exec(served) ?? [];
    if (!settings) return new Response(`${node.origin} has no console`, { status: 502 });
    const html = source.replace(SETTINGS, () => settings);
    return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
  },
});
process.stdout.write(`${server.url.href} shows ${node.origin}\n`);

/** The node responds only to pages of its own origin. */
function forward(request: Request, path: string): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of ["host", "connection"]) headers.delete(name);
  if (headers.has("origin")) headers.set("origin", node.origin);
  return fetch(new URL(path, node), {
    method: request.method,
    headers,
    body: request.body,
    redirect: "manual",
    decompress: false,
    signal: request.signal,
  });
}
