/** The least that a compiled server can be: it answers everything alike, on the port that it is given. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch: () => new Response("hello"),
});
process.on("SIGTERM", () => server.stop(true));
