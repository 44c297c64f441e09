/** A minimal compiled server: returns the same response to every request, on the port of the argument. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch: () => new Response("hello"),
});
process.on("SIGTERM", () => server.stop(true));
