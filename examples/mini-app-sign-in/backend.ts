/** Serves the mini app, and knows its users by the tokens of a node. */

import { createClient, Errors } from "@farcaster/quick-auth";
import page from "./index.html";

const node = process.env.NODE_URL ?? "http://127.0.0.1:8080";
const quickAuthServerOrigin = `${node}/quick-auth`;
const quickAuth = createClient({ origin: quickAuthServerOrigin });

/** A token counts for one domain: that of the app, never one that a request names. */
const domain = () => process.env.APP_DOMAIN ?? `127.0.0.1:${server.port}`;

/** What the library throws for a token that does not count; anything else is a fault, such as a node that is away. */
const isRefusal = (cause: unknown) =>
  cause instanceof Errors.InvalidTokenError ||
  /^ERR_(JW[ST]|JOSE)_|^ERR_JWKS_NO_MATCHING_KEY$/.test(String((cause as { code?: unknown }).code));

/** The fid of who sends a request; undefined without a token that is valid here. */
async function fidOf(request: Request): Promise<number | undefined> {
  const [, token] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) return undefined;
  try {
    return (await quickAuth.verifyJwt({ token, domain: domain() })).sub;
  } catch (cause) {
    if (isRefusal(cause)) return undefined;
    throw cause;
  }
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 9800),
  development: false,
  routes: {
    "/": page,
    "/config": () => Response.json({ quickAuthServerOrigin }),
    "/api/me": async (request) => {
      const fid = await fidOf(request);
      if (fid === undefined) return Response.json({ error: "Sign in first." }, { status: 401 });
      const found = await fetch(`${node}/v2/svc/user?fid=${fid}`);
      const { user } = (await found.json()) as { user?: { username: string } };
      return Response.json({ fid, username: user?.username ?? "" });
    },
  },
});
console.log(`listening on port ${server.port}`);
