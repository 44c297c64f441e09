/** The longest pulse, and the most messages in a second. */
export const MAX_PULSE_SECS = 60;
export const MAX_PULSE_RATE = 5;
