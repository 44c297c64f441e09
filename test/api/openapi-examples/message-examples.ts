import type { Json } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { Message } from "../../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import { demoRecords } from "../../demo/records.ts";
import type { TestApi } from "../../support/api.ts";
import { signedHeaders } from "../../support/signing.ts";
import { keyring } from "./demo-api.ts";
import { type DocumentedOperation, type ExampleRequest, exampleOf, send } from "./operations.ts";

/** Its keys are in no other example. */
const OWNER_FID = 5;

/** The examples of signed messages: one that the network has already, so that no other example changes. */
export async function messageExamples(
  api: TestApi,
  operationOf: (id: string) => DocumentedOperation,
): Promise<Record<string, OperationExample>> {
  const record = demoRecords().find(({ kind }) => kind === "message");
  if (!record) throw new Error("the demo network has messages");
  const { dataBytes, hash, signature, signer } = Message.decode(record.bytes);
  const body: Json = {
    dataBytes: dataBytes?.toBase64() ?? "",
    hash: hash.toBase64(),
    hashScheme: "HASH_SCHEME_BLAKE3",
    signature: signature.toBase64(),
    signatureScheme: "SIGNATURE_SCHEME_ED25519",
    signer: signer.toBase64(),
  };
  const headers = { "x-api-key": await writeKey(api) };
  const examples: Record<string, OperationExample> = {};
  const call = async (id: string, request: ExampleRequest) => {
    const response = await send(api, operationOf(id), request);
    examples[id] = exampleOf(request, response);
    return response;
  };
  await call("publishMessage", { body, headers: { ...headers, "idempotency-key": "example" } });
  const published = examples.publishMessage;
  if (published) {
    const merged = published.responses["200"];
    const queued = typeof merged === "object" ? { ...merged, state: "queued" } : merged;
    examples.publishMessage = { ...published, responses: { ...published.responses, "202": queued as Json } };
  }
  await call("getMessage", { query: { hash: `0x${hash.toHex()}` }, headers });
  return examples;
}

async function writeKey(api: TestApi): Promise<string> {
  const body = { name: "backend", scopes: ["write"] };
  const headers = await signedHeaders({
    method: "POST",
    path: "/api_key",
    body: JSON.stringify(body),
    fid: OWNER_FID,
    signedAt: nowSecs(api.node.clock),
    wallet: keyring.custody(OWNER_FID),
  });
  const created = await send(api, { method: "post", path: "/v2/svc/api_key" }, { headers, body });
  return (created.body as { secret: string }).secret;
}
