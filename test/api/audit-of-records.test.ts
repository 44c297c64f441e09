import { expect, test } from "bun:test";
import { startSignedApi } from "../support/signed-api.ts";

interface Entry {
  readonly action: string;
  readonly record_id: string | null;
  readonly outcome: string;
}

test("each change of a mini app or webhook is in its owner's audit log, which `of=records` filters; refused changes and those of others are not", async () => {
  await using signed = await startSignedApi();
  const change = async (method: "POST" | "PUT" | "DELETE", path: string, body?: object, status = 200) => {
    const response = await signed.call({ method, path, ...(body && { body }) });
    expect([path, response.status, response.body]).toEqual([path, status, expect.anything()]);
    return response.body;
  };
  const entriesOf = async (query: string, fid = 3) =>
    (await signed.call({ method: "GET", path: `/audit${query}`, fid })).body as {
      entries: Entry[];
      next: { cursor: string | null };
    };
  const { app } = await change("POST", "/frame/app", { name: "Bread", app_url: "https://app.example/mini" });
  const { app_id: id } = app;
  await change("PUT", "/frame/app", { app_id: id, name: "Rye" });
  await change("PUT", "/frame/app", { app_id: id, name: 1 }, 400);
  await change("POST", `/frame/app/secret/rotate?app_id=${id}`);
  const fields = { name: "Casts", url: "https://app.example/mini", subscription: { "cast.created": {} } };
  const { webhook } = await change("POST", "/webhook?owner_fid=3", fields);
  const { webhook_id: webhookId } = webhook;
  await change("PUT", "/webhook", { webhook_id: webhookId, active: false });
  await change("POST", `/webhook/secret/rotate?webhook_id=${webhookId}`);
  await change("POST", "/api_key", { name: "Bot", scopes: ["read"] });
  await change("DELETE", `/webhook?webhook_id=${webhookId}`);
  await change("DELETE", `/frame/app?app_id=${id}`);
  await change("DELETE", `/frame/app?app_id=${id}`, undefined, 404);

  const ofRecords: [string, string | null][] = [
    ["app.delete", id],
    ["webhook.delete", webhookId],
    ["webhook.rotate_secret", webhookId],
    ["webhook.update", webhookId],
    ["webhook.create", webhookId],
    ["app.rotate_secret", id],
    ["app.update", id],
    ["app.create", id],
  ];
  const shown = ({ entries }: { entries: Entry[] }) =>
    entries.map((one): [string, string | null] => [one.action, one.record_id]);
  expect(shown(await entriesOf("?of=records"))).toEqual(ofRecords);
  const all = shown(await entriesOf("?of=everything"));
  expect(all).toEqual([...ofRecords.slice(0, 2), ["api_key.create", null], ...ofRecords.slice(2)]);
  const first = await entriesOf("?of=records&limit=5");
  const rest = await entriesOf(`?of=records&limit=5&cursor=${first.next.cursor}`);
  expect([...shown(first), ...shown(rest)]).toEqual(ofRecords);
  expect(await entriesOf("?of=records", 4)).toEqual({ entries: [], next: { cursor: null } });
}, 180_000);
