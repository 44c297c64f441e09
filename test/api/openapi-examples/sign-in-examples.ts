import type { Json } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { LOGIN_CLIENT_ID } from "./managed-examples.ts";

const NONCE = "0P1ih5BeNe492rSoXoUgsIixancsxOvh";
const TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6Ik4xUG0zaWFLIiwidHlwIjoiSldUIn0.eyJzdWIiOjN9.c2lnbmF0dXJl";
const ISSUER = "https://node.example/quick-auth";

const ASSOCIATION = {
  header:
    "eyJmaWQiOjMsInR5cGUiOiJjdXN0b2R5Iiwia2V5IjoiMHg2Q2UwOUVkNTUyNmRlNEFGZTRhOTgxYWQ4NkQxN0IyRjVjOTJGZUE1In0",
  payload: "eyJkb21haW4iOiJhcHAuZXhhbXBsZSJ9",
  signature: `${"ab".repeat(43)}A`,
};
const MANIFEST = {
  accountAssociation: ASSOCIATION,
  miniapp: {
    version: "1",
    name: "Bread club",
    iconUrl: "https://app.example/icon.png",
    homeUrl: "https://app.example/",
    webhookUrl: "https://events.example/farcaster",
  },
};
const VERDICT = {
  signature_valid: true,
  encoding: "raw",
  key_bound_by: "custody",
  fid: 3,
  type: "custody",
  key: "0x6Ce09Ed5526de4AFe4a981ad86D17B2F5c92FeA5",
  user: { fid: 3, username: "dwr.eth", display_name: "Dan" },
  domain: "app.example",
  domain_matches: true,
  valid: true,
  faults: [],
};
const REPORT = {
  domain: "app.example",
  fetched_at: 1_793_534_400,
  status: 200,
  redirected_to: null,
  account_association: VERDICT,
  manifest: MANIFEST,
  findings: [
    {
      severity: "info",
      path: "miniapp.webhookUrl",
      code: "other_node",
      message: "token events go elsewhere: this node cannot send for the app",
    },
  ],
  webhook: { url: MANIFEST.miniapp.webhookUrl, is_this_node: false, app_id: null },
};

const LINK = "https://node.example/signin/YcVMfFnQ8yJ1kYAd3sVH2u";
const CHANNEL = { channelToken: "YcVMfFnQ8yJ1kYAd3sVH2u", url: LINK, connectUri: LINK, nonce: NONCE };
const PENDING = {
  state: "pending",
  nonce: NONCE,
  url: LINK,
  signatureParams: { siweUri: "https://app.example/login", domain: "app.example", nonce: NONCE },
  metadata: { ip: "192.0.2.7", userAgent: "Mozilla/5.0" },
  acceptAuthAddress: true,
};
const SIGNED_IN = {
  ...PENDING,
  state: "completed",
  message: "app.example wants you to sign in …",
  signature: `0x${"a3".repeat(64)}1b`,
  authMethod: "custody",
  fid: 3,
  username: "dwr.eth",
  displayName: "Dan",
  bio: "Bread",
  pfpUrl: "https://images.example/3.png",
  verifications: ["0xd7029bdea1c17493893aafe29aad69ef892b8ff2"],
  custody: "0x6ce09ed5526de4afe4a981ad86d17b2f5c92fea5",
  token: TOKEN,
};

/** The examples of sign-in. Tokens, keys and signatures are random, so these are written by hand. The document leaves out paths with a dot. */
export const signInExamples: Readonly<Record<string, OperationExample>> = {
  quickAuthNonce: { responses: { 200: { nonce: NONCE } } },
  quickAuthVerifySiwf: {
    body: {
      message: `app.example wants you to sign in with your Ethereum account:\n0x6Ce09Ed5526de4AFe4a981ad86D17B2F5c92FeA5\n\nFarcaster Auth\n\nURI: https://app.example/login\nVersion: 1\nChain ID: 10\nNonce: ${NONCE}\nIssued At: 2026-11-01T12:00:00.000Z\nResources:\n- farcaster://fid/3`,
      signature: `0x${"a3".repeat(64)}1b`,
      domain: "app.example",
    },
    responses: { 200: { valid: true, token: TOKEN } },
  },
  quickAuthVerifyJwt: {
    query: { token: TOKEN, domain: "app.example" },
    responses: {
      200: {
        iss: ISSUER,
        sub: 3,
        aud: "app.example",
        iat: 1_793_534_400,
        exp: 1_793_538_000,
        auth_method: "custody",
        jti: "Zc0hPp3mVZ0dUq8xYv2n5A",
      },
    },
  },
  checkManifest: { query: { domain: "app.example" }, responses: { 200: REPORT } },
  checkGivenManifest: {
    body: { domain: "app.example", manifest: MANIFEST },
    responses: { 200: { ...REPORT, status: null } },
  },
  verifyJfs: {
    body: ASSOCIATION,
    responses: { 200: { ...VERDICT, domain_matches: null } },
  },
  relayOpenChannel: {
    body: { siweUri: "https://app.example/login", domain: "app.example" },
    responses: { 201: CHANNEL },
  },
  relayChannelStatus: { responses: { 200: SIGNED_IN, 202: PENDING } },
  relayAuthenticate: {
    body: { message: "app.example wants you to sign in …", signature: `0x${"a3".repeat(64)}1b`, fid: 3 },
    responses: { 201: SIGNED_IN },
  },
  registryRpc: {
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "eth_call",
      params: [
        {
          to: "0x00000000fc6c5f01fc30151999387bb99a9f489b",
          data: "0xd94fe8320000000000000000000000006ce09ed5526de4afe4a981ad86d17b2f5c92fea5",
        },
        "latest",
      ],
    },
    responses: { 200: { jsonrpc: "2.0", id: 1, result: `0x${"0".repeat(63)}3` } },
  },
};

const LOGIN_URL = `https://node.example/login?client_id=${LOGIN_CLIENT_ID}`;

/** The examples of the login page's calls by key, which only the compat dialect has. */
export const loginExamples = (user: Json): Readonly<Record<string, OperationExample>> => ({
  authorizeLogin: {
    query: { client_id: LOGIN_CLIENT_ID },
    responses: { 200: { authorization_url: LOGIN_URL } },
  },
  exchangeLoginCode: {
    body: {
      code: "7Qm2yF4tK9sVbXcR1hLdPz",
      client_id: LOGIN_CLIENT_ID,
      redirect_uri: "https://chess.example/signed-in",
    },
    responses: {
      200: {
        is_authenticated: true,
        signer_uuid: "6b1f6f0c-2d5e-4a7b-8c3d-9e0f1a2b3c4d",
        fid: "3",
        user,
      },
    },
  },
});
