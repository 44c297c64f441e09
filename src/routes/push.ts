import type { AuthParts } from "../auth/verify.ts";
import type { TokenService } from "../management/tokens.ts";
import type { TokenWebhookParts } from "./token-webhook/routes.ts";

/** What the routes of mini-app push work with. */
export interface PushParts {
  readonly auth: AuthParts;
  readonly tokens: TokenService;
  readonly tokenWebhook: TokenWebhookParts;
}
