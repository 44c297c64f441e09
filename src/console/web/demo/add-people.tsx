import { useState } from "preact/hooks";
import { request } from "../data/request.ts";
import { nowMs } from "../data/visibility.ts";
import { Icon } from "../icons/icons.tsx";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/demo/demo.ts";

const SECONDS = 15;
const PER_SECOND = 3;

/**
 * Lets the people of the demo network cast, like and follow for a while; otherwise the network is idle. Renders nothing on a node without
 * a demo network. `idle` is shown while no activity was started here.
 */
export function GenerateActivity({ idle = "" }: { idle?: string }) {
  const [endsAt, setEndsAt] = useState(0);
  const action = useAction();
  if (!pageConfig.demo) return null;
  const left = Math.ceil(endsAt - nowMs.value / 1000);
  const start = () =>
    action.run(async () => {
      const body = { seconds: SECONDS, per_second: PER_SECOND };
      const call = { method: "POST", path: "/console/demo/pulse", body } as const;
      if (left <= 0) setEndsAt((await request<{ ends_at: number }>(call)).ends_at);
      return undefined;
    });
  return (
    <span class="row wrap">
      <button type="button" class="btn" aria-disabled={left > 0} onClick={start}>
        <Icon name="play" size={14} />
        {msg.generateActivity}
      </button>
      <output class="s dim">
        {action.failure?.message ?? (left > 0 ? msg.peopleCastLikeAndFollowFor(left) : idle)}
      </output>
    </span>
  );
}

interface Added {
  readonly added: number;
  readonly refusal: string | null;
}

/**
 * Lets people of the demo network add an app, with real envelopes of two clients; `onAdded` is called when the audience should be
 * reloaded. Renders nothing on a node without a demo network.
 */
export function AddDemoPeople({ appId, onAdded }: { appId: string; onAdded?: () => void }) {
  const [result, setResult] = useState<Added>();
  const action = useAction();
  if (!pageConfig.demo) return null;
  const add = (people: number) =>
    action.run(async () => {
      const body = { app_id: appId, people };
      setResult(await request<Added>({ method: "POST", path: "/console/demo/add-app", body }));
      onAdded?.();
      return undefined;
    });
  return (
    <div class="stack">
      <p class="s dim">{msg.thisIsADemoNetworkIts}</p>
      <div class="row wrap">
        {[25, 200].map((people) => (
          <ActionButton action={action} key={people} onClick={() => add(people)}>
            {msg.addDemoPeople(people)}
          </ActionButton>
        ))}
        {result && (
          <output class="s">
            {result.refusal === null
              ? msg.addedTheApp(msg.countPeople(result.added))
              : msg.addedTheAppThenTheNode(msg.countPeople(result.added), result.refusal)}
          </output>
        )}
      </div>
      <Outcome action={action} />
    </div>
  );
}
