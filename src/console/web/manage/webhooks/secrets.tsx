import { CopyButton } from "../../parts/copy-button.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import type { Secret } from "./webhook.ts";

/** Secrets in their two spellings; without their texts while those are hidden. */
export function Secrets({ secrets }: { secrets: readonly Secret[] }) {
  return (
    <ul class="plain stack">
      {secrets.map(({ uid, value, standard_secret, expires_at, created_at }) => (
        <li class="stack" key={uid} data-secret>
          <p class="row wrap s">
            <Pill kind={expires_at === null ? "ok" : "warn"}>
              {expires_at === null ? "in use" : "being replaced"}
            </Pill>
            <span class="dim">
              made <Time ago at={created_at} />
              {expires_at !== null && (
                <>
                  , stops signing <Time at={expires_at} />
                </>
              )}
            </span>
          </p>
          {value !== null && (
            <dl class="pairs">
              <dt>Key of HMAC-SHA512</dt>
              <dd class="row">
                <code class="grow user">{value}</code>
                <CopyButton text={value} label="Copy secret" />
              </dd>
              {standard_secret !== null && (
                <>
                  <dt>Standard Webhooks</dt>
                  <dd class="row">
                    <code class="grow user">{standard_secret}</code>
                    <CopyButton text={standard_secret} label="Copy as whsec" />
                  </dd>
                </>
              )}
            </dl>
          )}
        </li>
      ))}
    </ul>
  );
}
