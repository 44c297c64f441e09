/**
 * The official client through proxies, over TLS: for each address it subscribes, submits a cast and waits for its event. The certificate
 * authority is that of GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, which is read at the start of a process.
 *
 * Usage: hub-over-tls.ts <silent ms> <address> … Prints a JSON object for each address, in their order. With silent ms it also subscribes to
 * what never happens for so long, and fails if that stream ends.
 */
import {
  CastType,
  FarcasterNetwork,
  getSSLHubRpcClient,
  HubEventType,
  makeCastAdd,
  NobleEd25519Signer,
} from "@farcaster/hub-nodejs";
import { keysOfPerson } from "../../support/demo-calls.ts";

const [silentMs = "0", ...addresses] = process.argv.slice(2);
const FID = 8;
const signer = new NobleEd25519Signer(
  Buffer.from(keysOfPerson(FID).signers[0]?.privateKey.slice(2) ?? "", "hex"),
);

async function subscribed(address: string) {
  const client = getSSLHubRpcClient(address);
  const stream = (await client.subscribe({ eventTypes: [HubEventType.MERGE_MESSAGE] }))._unsafeUnwrap();
  await new Promise((resolve) => stream.on("metadata", resolve));
  const isOpen = new Promise<boolean>((resolve) => {
    stream.on("error", () => resolve(false));
    stream.on("end", () => resolve(false));
    setTimeout(() => resolve(true), Number(silentMs));
  });
  return { client, stream, isOpen };
}

async function through(address: string) {
  const { client, stream, isOpen } = await subscribed(address);
  const wasOpen = await isOpen;
  const hashes = new Set<string>();
  const body = {
    text: `Through ${address}`,
    embeds: [],
    embedsDeprecated: [],
    mentions: [],
    mentionsPositions: [],
  };
  const made = await makeCastAdd(
    { ...body, type: CastType.CAST },
    { fid: FID, network: FarcasterNetwork.MAINNET },
    signer,
  );
  const message = made._unsafeUnwrap();
  const hash = Buffer.from(message.hash).toString("hex");
  const arrived = new Promise<void>((resolve) => {
    stream.on("data", ({ mergeMessageBody }) => {
      hashes.add(Buffer.from(mergeMessageBody?.message?.hash ?? []).toString("hex"));
      if (hashes.has(hash)) resolve();
    });
  });
  const submitted = await client.submitMessage(message);
  await arrived;
  stream.cancel();
  client.close();
  return { submitted: submitted.isOk(), arrived: true, wasOpen };
}

process.stdout.write(JSON.stringify(await Promise.all(addresses.map(through))));
process.exit(0);
