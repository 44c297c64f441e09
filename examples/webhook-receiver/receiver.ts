import { createHmac, timingSafeEqual } from "node:crypto";

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error("WEBHOOK_SECRET is missing");

function isGenuine(body: Uint8Array, signature: string): boolean {
  const expected = createHmac("sha512", String(secret)).update(body).digest();
  const received = Buffer.from(signature, "hex");
  return received.length === expected.length && timingSafeEqual(received, expected);
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 9300,
  async fetch(request) {
    const body = await request.bytes();
    if (!isGenuine(body, request.headers.get("x-svc-signature") ?? ""))
      return new Response(null, { status: 401 });
    const { type, data } = JSON.parse(new TextDecoder().decode(body));
    console.log(type, data.text);
    return new Response(null, { status: 204 });
  },
});
console.log(`listening at ${server.url}`);
