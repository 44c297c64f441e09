import type { AppService } from "../../apps/app-service.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Refusal } from "../../management/refusal.ts";
import type { TokenPosition, TokenRecord, TokenStore } from "../store/token-store.ts";

/** Notification tokens of an app, for its owner. */
export interface TokenService {
  /** Returns at most `max` rows after `after`, by fid and client. `fid` is the acting fid. */
  list(
    fid: number,
    page: { readonly appId: string; readonly after: TokenPosition | undefined; readonly max: number },
  ): Promise<Result<TokenRecord[], Refusal>>;
}

export function createTokenService(deps: {
  readonly apps: AppService;
  readonly tokens: TokenStore;
}): TokenService {
  return {
    async list(fid, page) {
      const app = await deps.apps.get(fid, page.appId);
      return app.ok ? ok(await deps.tokens.list(page)) : app;
    },
  };
}
