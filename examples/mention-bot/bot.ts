/** Answers every cast that mentions its user, with the SDK of the hosted API. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing`);
  return value;
}

const signerUuid = setting("SIGNER_UUID");
const publicUrl = setting("PUBLIC_URL");
const client = new NeynarAPIClient(
  new Configuration({
    apiKey: setting("API_KEY"),
    basePath: process.env.BASE_URL ?? "https://api.neynar.com",
  }),
);

const { fid } = await client.lookupSigner({ signerUuid });
if (!fid) throw new Error("the signer is not approved");
const subscription = { "cast.created": { mentioned_fids: [fid] } };

/** A webhook of an earlier run is used again. */
const existing = (await client.fetchWebhooks()).webhooks.find(({ target_url }) => target_url === publicUrl);
const webhook =
  existing ?? (await client.publishWebhook({ name: "mention bot", url: publicUrl, subscription })).webhook;
const secret = webhook?.secrets[0]?.value;
if (!secret) throw new Error("the webhook has no secret");

function isGenuine(body: string, signature: string): boolean {
  const expected = createHmac("sha512", String(secret)).update(body).digest();
  const received = Buffer.from(signature, "hex");
  return received.length === expected.length && timingSafeEqual(received, expected);
}

interface Mention {
  readonly hash: string;
  readonly author: { readonly fid: number; readonly username: string };
}

async function answer({ hash, author }: Mention): Promise<void> {
  // The bot does not answer itself.
  if (author.fid === fid) return;
  // A delivery may arrive twice: the same idem makes one reply.
  await client.publishCast({ signerUuid, text: `gm @${author.username}!`, parent: hash, idem: hash });
  console.log(`answered ${author.username}`);
}

const server = Bun.serve({
  hostname: process.env.HOST ?? "127.0.0.1",
  port: Number(process.env.PORT ?? 9400),
  async fetch(request) {
    const body = await request.text();
    if (!isGenuine(body, request.headers.get("x-neynar-signature") ?? ""))
      return new Response(null, { status: 401 });
    const { type, data } = JSON.parse(body);
    try {
      if (type === "cast.created") await answer(data);
    } catch (error) {
      console.error(String(error));
      // The node delivers again.
      return new Response(null, { status: 503 });
    }
    return new Response(null, { status: 204 });
  },
});
console.log(`listening on port ${server.port}`);
