import type { AuthDeps } from "../../auth/verify.ts";
import type { AudienceService } from "../../push/audience-service.ts";
import type { CampaignService } from "../../push/campaign-service.ts";
import type { SendService } from "../../push/send-service.ts";
import type { SenderView } from "../../push/sender-view.ts";
import type { TokenService } from "../../push/tokens/token-service.ts";
import type { PushApps } from "../compat/push-app.ts";
import type { TokenWebhookDeps } from "../native/token-webhook/routes.ts";

/** Dependencies of the routes of mini-app push. */
export interface PushDeps extends PushApps {
  readonly auth: AuthDeps;
  readonly tokens: TokenService;
  readonly tokenWebhook: TokenWebhookDeps;
  readonly sends: SendService;
  readonly campaigns: CampaignService;
  readonly audience: AudienceService;
  readonly senderView: SenderView;
}
