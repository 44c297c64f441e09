/**
 * The baseline of a comparison, in a separate process: a bare `Bun.serve` that serves each path of a file
 * (`bun bench/processes/bare-server.ts <file of { path: text }>`) with the bytes that the node returns for it. It ignores
 * `&unused=` and everything after it.
 */
const bodies: Record<string, string> = await Bun.file(process.argv[2] ?? "").json();
const encoder = new TextEncoder();
const responses = new Map(Object.entries(bodies).map(([path, text]) => [path, encoder.encode(text)]));
const init = { headers: { "content-type": "application/json" } };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const unused = url.indexOf("&unused=");
    // The path starts at the third slash, as in http://host/path.
    const bytes = responses.get(url.slice(url.indexOf("/", 8), unused < 0 ? undefined : unused));
    return bytes === undefined ? new Response(null, { status: 404 }) : new Response(bytes, init);
  },
});
process.stdout.write(`${server.port}\n`);
