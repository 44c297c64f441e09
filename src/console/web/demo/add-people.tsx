import { useState } from "preact/hooks";
import { plural } from "../data/format.ts";
import { RequestFailure, request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import { FailureBox } from "../parts/failure-box.tsx";

interface Added {
  readonly added: number;
  readonly refusal: string | null;
}

/**
 * Has people of the demo network add an app, by real envelopes of two clients; `onAdded` is the time to ask for the audience again.
 * Absent on a node without a demo network.
 */
export function AddDemoPeople({ appId, onAdded }: { appId: string; onAdded?: () => void }) {
  const [result, setResult] = useState<Added>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [isBusy, setBusy] = useState(false);
  if (!pageConfig.demo) return null;
  async function add(people: number) {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const body = { app_id: appId, people };
      setResult(await request<Added>({ method: "POST", path: "/console/demo/add-app", body }));
      onAdded?.();
    } catch (cause) {
      if (!(cause instanceof RequestFailure)) throw cause;
      setFailure(cause);
    } finally {
      setBusy(false);
    }
  }
  return (
    <div class="stack">
      <p class="s dim">
        This is a demo network: its people can add your app. Their clients report it as real ones do.
      </p>
      <div class="row wrap">
        {[25, 200].map((people) => (
          <button type="button" class="btn" key={people} aria-disabled={isBusy} onClick={() => add(people)}>
            Have {people} people add it
          </button>
        ))}
        {result && (
          <output class="s">
            {result.refusal === null
              ? `${plural(result.added, "person", "people")} added the app.`
              : `${plural(result.added, "person", "people")} added the app, then the node said: ${result.refusal}`}
          </output>
        )}
      </div>
      {failure && <FailureBox failure={failure} />}
    </div>
  );
}
