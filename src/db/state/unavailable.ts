/**
 * The state cannot be written, or did not say in time that it was. The call may have been carried out or may not: whoever
 * catches this must not take it for "not done".
 */
export class StateUnavailable extends Error {
  override name = "StateUnavailable";
}
