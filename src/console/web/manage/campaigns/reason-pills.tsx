import { formatCount } from "../../data/format.ts";
import { type Reasons, reasonText } from "./campaign.ts";

/** Reasons with their numbers; what they mean is in the title. */
export function ReasonPills({ reasons, isFailure = true }: { reasons: Reasons; isFailure?: boolean }) {
  const counted = Object.entries(reasons);
  if (counted.length === 0) return null;
  return (
    <span class="row wrap tight">
      {counted.map(([reason, count]) => (
        <span class={isFailure ? "pill bad" : "pill"} title={reasonText(reason)} key={reason}>
          {reason} {formatCount(count)}
        </span>
      ))}
    </span>
  );
}
