/** Serves the page that stands for a Farcaster client. */

import page from "./client.html";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.CLIENT_PORT ?? 9801),
  development: false,
  routes: { "/": page },
});
console.log(`listening on port ${server.port}`);
