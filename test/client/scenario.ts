import { privateKeyToAccount } from "viem/accounts";
import { ApiFailure, createClient, streamEvents } from "../../client/src/index.ts";

/** What a program of a developer does with the client, on any platform. */
export interface ScenarioReport {
  readonly name: string | null | undefined;
  readonly refusal: readonly [status: number, message: string, hasRequestId: boolean];
  readonly appNames: readonly string[];
  readonly unsigned: number;
  readonly events: readonly string[];
}

/** Has people of the demo network act for some seconds. One pulse runs at a time, so another one may have to end first. */
export async function startPulse(baseUrl: string): Promise<void> {
  const request = { method: "POST", body: '{"seconds":5,"per_second":5}' };
  for (;;) {
    const response = await fetch(`${baseUrl}/console/demo/pulse`, request);
    if (((await response.json()) as { started: boolean }).started) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Reads, is refused, signs two operations as fid 3, and follows the stream for three events. */
export async function runScenario(baseUrl: string, custodyKey: `0x${string}`): Promise<ScenarioReport> {
  const client = createClient({ baseUrl });
  const { data } = await client.GET("/v2/svc/user", { params: { query: { fid: 3 } } });
  const refused = await client.GET("/v2/svc/user", { params: { query: { fid: 999_999 } } }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(refused instanceof ApiFailure)) throw new Error("an unknown fid is not a failure");

  const owner = createClient({ baseUrl, owner: { fid: 3, signer: privateKeyToAccount(custodyKey) } });
  await owner.POST("/v2/svc/frame/app", {
    body: { name: "Bread club", app_url: "https://bread.demo.example/" },
  });
  const apps = await owner.GET("/v2/svc/frame/app/list");
  const unsigned = await client.GET("/v2/svc/frame/app/list").then(
    () => 200,
    (cause: ApiFailure) => cause.status,
  );

  const stop = new AbortController();
  const events: string[] = [];
  const stream = streamEvents({
    baseUrl,
    subscription: { "cast.created": {}, "reaction.created": {}, "follow.created": {} },
    signal: stop.signal,
  });
  const first = stream.next();
  await startPulse(baseUrl);
  events.push((await first).value?.type ?? "");
  for await (const event of stream) {
    events.push(event.type);
    if (events.length === 3) break;
  }
  stop.abort();
  return {
    name: data?.user.display_name,
    refusal: [refused.status, refused.message, refused.requestId !== null],
    appNames: apps.data?.apps.map(({ name }) => name) ?? [],
    unsigned,
    events,
  };
}
