/**
 * The other side of the comparison, as a process of its own: a bare `Bun.serve` that answers each path of a file
 * (`bun bench/processes/bare-server.ts <file of { path: text }>`) with the very bytes that the node answers, whatever stands
 * behind `&unused=`.
 */
const bodies: Record<string, string> = await Bun.file(process.argv[2] ?? "").json();
const encoder = new TextEncoder();
const answers = new Map(Object.entries(bodies).map(([path, text]) => [path, encoder.encode(text)]));
const init = { headers: { "content-type": "application/json" } };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const unused = url.indexOf("&unused=");
    // The path begins behind the third slash, as in http://host/path.
    const bytes = answers.get(url.slice(url.indexOf("/", 8), unused < 0 ? undefined : unused));
    return bytes === undefined ? new Response(null, { status: 404 }) : new Response(bytes, init);
  },
});
process.stdout.write(`${server.port}\n`);
