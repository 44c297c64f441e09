import { toBytes } from "viem";
import { type DemoKeys, demoKeys } from "../../src/demo/keys.ts";
import { signedHeaders } from "./signing.ts";

/** The keys of a person of the demo network. */
export function keysOfPerson(fid: number): DemoKeys {
  const keys = demoKeys(fid);
  if (!keys) throw new Error(`fid ${fid} is not in the demo network`);
  return keys;
}

/** A request in the name of a person of the demo network, to a path under `/v2/svc`. */
export async function fetchAsPerson(
  { url }: { readonly url: string },
  fid: number,
  {
    method,
    path,
    body: value,
  }: { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object },
): Promise<Response> {
  const { custody } = keysOfPerson(fid);
  const wallet = { privateKey: toBytes(custody.privateKey), address: toBytes(custody.address) };
  const signedAt = Math.floor(Date.now() / 1000);
  const content = value && { body: JSON.stringify(value) };
  const headers = await signedHeaders({ method, path, fid, signedAt, wallet, ...content });
  return fetch(`${url}/v2/svc${path}`, { method, headers, ...content });
}

/** Posts to a path under `/v2/svc` in the name of a person of the demo network; fails unless the response is a success. */
export async function postAsPerson(
  node: { readonly url: string },
  fid: number,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await fetchAsPerson(node, fid, { method: "POST", path, body });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Has a node keep the first signer of `user`, for `owner`. Returns the uuid of the managed signer. */
export async function importSignerOfPerson(
  node: { readonly url: string },
  { user, owner }: { readonly user: number; readonly owner: number },
): Promise<string> {
  const fields = { fid: user, private_key: keysOfPerson(user).signers[0]?.privateKey };
  const { signer } = await postAsPerson(node, owner, "/managed_signer/import", fields);
  return (signer as { signer_uuid: string }).signer_uuid;
}
