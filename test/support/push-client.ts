import { type SendNotificationRequest, sendNotificationRequestSchema } from "@farcaster/miniapp-node";

/** A client app's notification server on a real socket, with scripted responses. */
export interface PushClient extends AsyncDisposable {
  readonly port: number;
  /** Every body that the protocol's own schema accepts. */
  readonly requests: readonly SendNotificationRequest[];
  /** The schema's errors for the other bodies. */
  readonly violations: readonly string[];
  /** How often each notification was shown to the user of a token, as `<notificationId> <token>`. */
  readonly shown: ReadonlyMap<string, number>;
  /** The maximum number of concurrent calls. */
  readonly mostAtATime: number;
}

/** Responds to a call; `nth` counts the calls from 0. */
export type PushScript = (request: SendNotificationRequest, nth: number) => Response | Promise<Response>;

/** A response of the protocol's schema. */
export function lists(input: {
  readonly successful?: readonly string[];
  readonly invalid?: readonly string[];
  readonly rateLimited?: readonly string[];
  readonly failed?: readonly { token: string; reason: string }[];
}): Record<string, unknown> {
  const { successful = [], invalid = [], rateLimited = [], failed } = input;
  return {
    successfulTokens: successful,
    invalidTokens: invalid,
    rateLimitedTokens: rateLimited,
    ...(failed === undefined ? {} : { failedTokens: failed }),
  };
}

export const nested = (input: Parameters<typeof lists>[0]) => Response.json({ result: lists(input) });

/** Responds that every token of the call was served. */
export const allServed: PushScript = ({ tokens }) => nested({ successful: tokens });

/** As real clients do, it shows a user the same notification once, however often it is posted. */
export function startPushClient(script: PushScript = allServed): PushClient {
  const requests: SendNotificationRequest[] = [];
  const violations: string[] = [];
  const shown = new Map<string, number>();
  let open = 0;
  let mostAtATime = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      open += 1;
      mostAtATime = Math.max(mostAtATime, open);
      try {
        const parsed = sendNotificationRequestSchema.safeParse(await request.json());
        if (!parsed.success) {
          violations.push(parsed.error.message);
          return new Response("bad request", { status: 400 });
        }
        const nth = requests.push(parsed.data) - 1;
        const response = await script(parsed.data, nth);
        const { notificationId } = parsed.data;
        const body = await response.clone().text();
        for (const token of servedBy(body)) {
          const key = `${notificationId} ${token}`;
          shown.set(key, (shown.get(key) ?? 0) + 1);
        }
        return response;
      } finally {
        open -= 1;
      }
    },
  });
  return {
    port: server.port ?? 0,
    requests,
    violations,
    shown,
    get mostAtATime() {
      return mostAtATime;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Returns the tokens that a response lists as served. */
function servedBy(body: string): readonly string[] {
  try {
    const parsed = JSON.parse(body);
    const served = (parsed.result ?? parsed).successfulTokens;
    return Array.isArray(served) ? served : [];
  } catch {
    return [];
  }
}
