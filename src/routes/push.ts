import type { AppOfSendKey } from "../auth/send-key.ts";
import type { AuthParts } from "../auth/verify.ts";
import type { TokenService } from "../management/tokens.ts";
import type { CampaignService } from "../notify/campaign-service.ts";
import type { SendService } from "../notify/send-service.ts";
import type { SenderView } from "../notify/sender-view.ts";
import type { TokenWebhookParts } from "./token-webhook/routes.ts";

/** What the routes of mini-app push work with. */
export interface PushParts {
  readonly auth: AuthParts;
  readonly tokens: TokenService;
  readonly tokenWebhook: TokenWebhookParts;
  readonly sends: SendService;
  readonly campaigns: CampaignService;
  readonly appOfKey: AppOfSendKey;
  readonly senderView: SenderView;
}
