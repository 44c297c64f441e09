/**
 * The state cannot be written, or the writer did not respond in time. The write may or may not have been committed: the
 * caller must not treat this as "not done".
 */
export class StateUnavailable extends Error {
  override name = "StateUnavailable";
}
