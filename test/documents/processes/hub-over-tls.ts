/**
 * The official client through proxies, over TLS: for each address it subscribes, submits casts and waits for their events. The certificate
 * authority is that of GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, which is read at the start of a process.
 *
 * Usage: hub-over-tls.ts <silent ms> <address> … Prints a JSON object for each address, in their order. Between the first and the last cast of
 * all, the subscriptions are silent for that long.
 */
import {
  CastType,
  FarcasterNetwork,
  getSSLHubRpcClient,
  HubEventType,
  type HubRpcClient,
  makeCastAdd,
  NobleEd25519Signer,
} from "@farcaster/hub-nodejs";
import { keysOfPerson } from "../../support/demo-calls.ts";

const [silentMs = "0", ...addresses] = process.argv.slice(2);
const FID = 8;
/** nginx may hold the head of a response until its first message, so only an event shows that a subscription is there. */
const RETRY_MS = 100;
const signer = new NobleEd25519Signer(
  Buffer.from(keysOfPerson(FID).signers[0]?.privateKey.slice(2) ?? "", "hex"),
);

async function submit(client: HubRpcClient, text: string): Promise<string> {
  const body = { text, embeds: [], embedsDeprecated: [], mentions: [], mentionsPositions: [] };
  const made = await makeCastAdd(
    { ...body, type: CastType.CAST },
    { fid: FID, network: FarcasterNetwork.MAINNET },
    signer,
  );
  const message = made._unsafeUnwrap();
  (await client.submitMessage(message))._unsafeUnwrap();
  return Buffer.from(message.hash).toString("hex");
}

async function subscribe(client: HubRpcClient) {
  const stream = (await client.subscribe({ eventTypes: [HubEventType.MERGE_MESSAGE] }))._unsafeUnwrap();
  const hashes = new Set<string>();
  let fault: string | undefined;
  stream.on("data", ({ mergeMessageBody }) => {
    hashes.add(Buffer.from(mergeMessageBody?.message?.hash ?? []).toString("hex"));
  });
  stream.on("error", (cause) => {
    fault ??= String(cause);
  });
  return { hashes, fault: () => fault, cancel: () => stream.cancel() };
}

const open = await Promise.all(
  addresses.map(async (address) => {
    const client = getSSLHubRpcClient(address);
    const subscription = await subscribe(client);
    for (let nth = 0; subscription.hashes.size === 0; nth += 1) {
      await submit(client, `First ${nth} through ${address}`);
      await Bun.sleep(RETRY_MS);
    }
    return { address, client, ...subscription };
  }),
);
await Bun.sleep(Number(silentMs));
const results = open.map(async ({ address, client, hashes, fault, cancel }) => {
  const hash = await submit(client, `Through ${address}`);
  while (!hashes.has(hash) && fault() === undefined) await Bun.sleep(RETRY_MS);
  const ended = fault();
  cancel();
  client.close();
  return ended === undefined ? "arrived" : ended;
});
process.stdout.write(JSON.stringify(await Promise.all(results)));
process.exit(0);
