import { clientFidsOf } from "../../../src/demo/roster.ts";
import type { Json } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import type { TestApi } from "../../support/api.ts";
import { type Method, signedHeaders } from "../../support/signing.ts";
import { verificationClaim } from "../../support/verification-claim.ts";
import { keyring, REGISTERED_CHANNEL } from "./demo-api.ts";
import { type DocumentedOperation, type ExampleRequest, exampleOf, send } from "./operations.ts";

/** Its keys and signers are in no other example. */
const OWNER_FID = 6;
/** The user whose signer writes. */
const USER_FID = 6;
/** The owner of the registered channel, and a user without a role in it. */
const CHANNEL_OWNER_FID = 9;
const GUEST_FID = 14;
const FOLLOWED_FID = 3;
const BLOCKED_FID = 9;

const MESSAGE = `0x${"5c".repeat(20)}` as const;
const merged = { responses: { "200": { message: MESSAGE, state: "merged" } } } as const;

/** Writes that a user signs with the custody address. Those of a key make the same messages. */
export const ownWriteExamples: Readonly<Record<string, OperationExample>> = {
  castByManagedSigner: {
    body: { signer_uuid: "51a1e0b2-8c94-4f0d-9a67-2c0e5b7d3f18", text: "gm" },
    ...merged,
  },
  setChannelFollow: { body: { channel_id: REGISTERED_CHANNEL, following: true }, ...merged },
  verifyOwnAddress: {
    body: {
      address: `0x${"1f".repeat(20)}`,
      block_hash: `0x${"0b".repeat(32)}`,
      eth_signature: `0x${"2e".repeat(65)}`,
    },
    ...merged,
  },
};

/** The examples of writes by managed signers. They run last, because they change the network. */
export async function publishExamples(
  api: TestApi,
  operationOf: (id: string) => DocumentedOperation,
): Promise<Record<string, OperationExample>> {
  const examples: Record<string, OperationExample> = {};
  const headers = { "x-api-key": await keyOf(api) };
  const signer_uuid = await importSigner(api, USER_FID);
  const call = async (id: string, fields: Readonly<Record<string, Json>>, request: ExampleRequest = {}) => {
    const body = { signer_uuid, ...fields };
    const response = await send(api, operationOf(id), { ...request, headers, body });
    const example = exampleOf({ body }, response);
    // A write on its way has the same body.
    examples[id] = { ...example, responses: { ...example.responses, "202": response.body } };
    return response.body;
  };

  const preview = { signer_uuid, operation: "publishCast", text: "gm @mirawren", channel_id: "coffee" };
  examples.previewWrite = exampleOf(
    { body: preview },
    await send(api, operationOf("previewWrite"), { headers, body: preview }),
  );
  const published = (await call("publishCast", {
    text: "gm @mirawren",
    channel_id: "coffee",
  })) as unknown as { cast: { hash: string } };
  const { hash } = published.cast;
  const like = { reaction_type: "like", target: hash };
  await call("publishReaction", like);
  await call("deleteReaction", like);
  await call("followChannel", { channel_id: REGISTERED_CHANNEL });
  await call("unfollowChannel", { channel_id: REGISTERED_CHANNEL });
  const inChannel = {
    signer_uuid: await importSigner(api, CHANNEL_OWNER_FID),
    channel_id: REGISTERED_CHANNEL,
  };
  const guest = { ...inChannel, fid: GUEST_FID };
  await call("updateChannel", { ...inChannel, rules: "Name the route." });
  await call("inviteChannelMember", { ...guest, role: "member" });
  await call("removeChannelMember", { ...guest, role: "member" });
  await call("banFromChannel", guest);
  await call("unbanFromChannel", guest);
  await call("respondToChannelInvite", { channel_id: REGISTERED_CHANNEL, role: "member", accept: true });
  for (const id of ["hideInChannel", "unhideInChannel", "pinInChannel"])
    await call(id, { ...inChannel, cast_hash: hash });
  await call("unpinInChannel", inChannel);
  await call("deleteCast", { target_hash: hash });
  await call("followUser", { target_fids: [FOLLOWED_FID] });
  await call("unfollowUser", { target_fids: [FOLLOWED_FID] });
  await call("publishBlock", { blocked_fid: BLOCKED_FID });
  await call("deleteBlock", { blocked_fid: BLOCKED_FID });
  await call("updateUser", { bio: "birds, mostly", location: { latitude: 52.52, longitude: 13.4 } });
  const { address, blockHash, ethSignature } = await verificationClaim(USER_FID);
  const claim = { address, block_hash: blockHash, eth_signature: ethSignature };
  await call("addVerification", claim);
  await call("deleteVerification", claim);
  await call("markNotificationsSeen", { type: "likes" });

  const partly: Json = { success: false, errors: [{ message: "not enough storage" }] };
  examples.updateUser = withResponse(examples.updateUser, "207", partly);
  for (const [id, message] of [
    ["publishMute", "the user is muted"],
    ["deleteMute", "the user is not muted"],
  ] as const) {
    const body = { fid: USER_FID, muted_fid: BLOCKED_FID };
    const responses = { "200": { success: true, message }, "202": { success: true, message } };
    examples[id] = { body, responses };
  }
  for (const id of ["publishBans", "deleteBans"])
    examples[id] = { body: { fids: [BLOCKED_FID] }, responses: { "200": { success: true, message: null } } };
  return examples;
}

function withResponse(example: OperationExample | undefined, status: string, body: Json): OperationExample {
  return { ...example, responses: { ...example?.responses, [status]: body } };
}

async function keyOf(api: TestApi): Promise<string> {
  const body = { name: "backend", scopes: ["write"] };
  return ((await signed(api, "/api_key", body)) as { secret: string }).secret;
}

async function importSigner(api: TestApi, fid: number): Promise<string> {
  const [clientFid = 0] = clientFidsOf(fid);
  const { seed } = keyring.signer(fid, clientFid);
  const body = { private_key: `0x${Buffer.from(seed).toString("hex")}`, fid };
  const created = (await signed(api, "/managed_signer/import", body)) as { signer: { signer_uuid: string } };
  return created.signer.signer_uuid;
}

async function signed(api: TestApi, path: string, body: Json): Promise<unknown> {
  const method: Method = "POST";
  const headers = await signedHeaders({
    method,
    path,
    body: JSON.stringify(body),
    fid: OWNER_FID,
    signedAt: nowSecs(api.node.clock),
    wallet: keyring.custody(OWNER_FID),
  });
  return (await send(api, { method: "post", path: `/v2/svc${path}` }, { headers, body })).body;
}
