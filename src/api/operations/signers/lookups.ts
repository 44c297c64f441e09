import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { callerOf } from "../../../http/exchange.ts";
import { address, text } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { fromHex, type Hex } from "../../../protocol/validate/eth.ts";
import { authAddressOwner, keyOwner } from "../../../read/queries/users/owners.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import type { RequestedKey } from "../../../signers/approval/key-requests.ts";
import { NO_MASTER_KEY } from "../../../signers/refusal.ts";
import type { ApiDeps } from "../../deps.ts";
import { EthAddress, Fid, object } from "../../dialects/fields.ts";
import type { Call } from "../../op.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { actorOf, Signature } from "./signers-by-key.ts";

const { op } = topic({ tag: "Signers and on-chain events", surface: "compat" });

const Status = Type.Union([
  Type.Literal("pending_approval"),
  Type.Literal("approved"),
  Type.Literal("revoked"),
]);
const Link = Type.Optional(
  Type.String({ format: "uri", description: "Where a user approves it, while it waits for that" }),
);

const DeveloperManagedSigner = object(
  {
    public_key: Type.String({ pattern: "^0x[0-9a-f]{64}$" }),
    status: Status,
    fid: Type.Optional(Fid),
    signer_approval_url: Link,
  },
  { $id: "FarcasterDeveloperManagedSigner" },
);

const AuthAddress = object(
  { address: EthAddress, status: Status, fid: Type.Optional(Fid), auth_address_approval_url: Link },
  { $id: "FarcasterAuthAddress" },
);

const KeyRequestFields = {
  app_fid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  deadline: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Unix seconds, at most 30 days ahead",
  }),
  signature: Signature,
  redirect_url: Type.Optional(Type.String({ maxLength: 2048 })),
  sponsor: Type.Optional(Type.Unknown({ description: "400: this service pays for no one" })),
};
const KeyRequest = Type.Object(KeyRequestFields);

const registered = {
  method: "POST",
  security: "apiKey",
  access: requireKey("signers"),
  errors: ["forbidden", "notFound", "conflict", "tooManyRequests", "unavailable"],
  notImplemented: {
    when: "Without `signers.encryption_key`, or where the URL of links is not known.",
    message: NO_MASTER_KEY,
  },
} as const;

/** With an API key, returns a key that its owner has requested, in the form for the requesting app. */
async function ownRequest({ signers }: ApiDeps, { request }: Call, key: Uint8Array) {
  const caller = callerOf(request);
  if (caller.kind !== "apiKey" || !caller.scopes.includes("signers")) return undefined;
  return signers.keyRequests.find(caller.ownerFid, key);
}

async function requestKey(
  { signers }: ApiDeps,
  { request }: Call,
  key: string,
  { app_fid, deadline, signature, redirect_url, sponsor }: Static<typeof KeyRequest>,
): Promise<RequestedKey> {
  if (sponsor !== undefined && sponsor !== null)
    throw new ApiError("badRequest", "sponsor: this service pays for no one");
  return unwrapOrThrow(
    await signers.keyRequests.request(actorOf(request), {
      key: fromHex(key.toLowerCase() as Hex),
      appFid: app_fid,
      deadline,
      signature: fromHex(signature as Hex),
      redirectUrl: redirect_url,
    }),
  );
}

const presentSigner = (key: string, { status, fid, approvalUrl }: RequestedKey) => ({
  public_key: key.toLowerCase(),
  status,
  ...(fid === null ? {} : { fid }),
  ...(approvalUrl === undefined ? {} : { signer_approval_url: approvalUrl }),
});

const presentAddress = (shown: string, { status, fid, approvalUrl }: RequestedKey) => ({
  address: shown.toLowerCase(),
  status,
  ...(fid === null ? {} : { fid }),
  ...(approvalUrl === undefined ? {} : { auth_address_approval_url: approvalUrl }),
});

export const signerLookupOperations = [
  op({
    id: "getDeveloperManagedSigner",
    path: "/signer/developer_managed",
    summary: "The fid of a key, on-chain or gasless, and whether it is still active",
    query: { public_key: text({ description: "0x and 64 hex digits" }) },
    response: DeveloperManagedSigner,
    description:
      "Under an API key with the scope `signers`, also a key that its owner has asked for and that waits for a user.",
    errors: ["notFound"],
    run: async (deps, call) => {
      const key = call.query.public_key;
      if (!/^(?:0x)?[0-9a-f]{64}$/i.test(key))
        throw new ApiError("badRequest", "public_key must be 0x and 64 hex digits");
      const hex = key.toLowerCase().replace(/^0x/, "");
      const asked = await ownRequest(deps, call, Buffer.from(hex, "hex"));
      if (asked) return presentSigner(`0x${hex}`, asked);
      const { reads } = deps;
      const owner = keyOwner(reads.db, Buffer.from(hex, "hex"), nowSecs(reads.clock));
      if (!owner) throw new ApiError("notFound", "no fid ever had this key");
      return { public_key: `0x${hex}`, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
    },
  }),
  op({
    id: "lookupDeveloperManagedAuthAddress",
    path: "/auth_address/developer_managed",
    summary: "The fid of an auth address, and whether it is still active",
    query: { address: address() },
    response: AuthAddress,
    description:
      "Under an API key with the scope `signers`, also an address that its owner has asked for and that waits for a user.",
    errors: ["notFound"],
    run: async (deps, call) => {
      const { query } = call;
      const asked = await ownRequest(deps, call, fromHex(query.address));
      if (asked) return presentAddress(query.address, asked);
      const owner = authAddressOwner(deps.reads.db, fromHex(query.address));
      if (!owner) throw new ApiError("notFound", "no fid ever had this auth address");
      return { address: query.address, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
    },
  }),
  op({
    ...registered,
    id: "registerDeveloperManagedSignedKey",
    path: "/signer/developer_managed/signed_key",
    summary: "Ask a user to approve a key that the app holds itself",
    description:
      "Responds with the link on which a user approves: without cost where the app has signed for gasless keys, else by a transaction of the " +
      "user's wallet. The same request again has the same link. The private key never gets here.",
    body: Type.Object({
      public_key: Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", description: "An Ed25519 public key" }),
      ...KeyRequestFields,
    }),
    response: DeveloperManagedSigner,
    run: async (deps, call) =>
      presentSigner(call.body.public_key, await requestKey(deps, call, call.body.public_key, call.body)),
  }),
  op({
    ...registered,
    id: "registerAuthAddressSignedKey",
    path: "/auth_address/developer_managed/signed_key",
    summary: "Ask a user to let an address sign in as them",
    description:
      "Responds with the link on which a user adds the address, by a transaction of their wallet. The same request again has the same link.",
    body: Type.Object({
      address: Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }),
      ...KeyRequestFields,
    }),
    response: AuthAddress,
    run: async (deps, call) =>
      presentAddress(call.body.address, await requestKey(deps, call, call.body.address, call.body)),
  }),
];
