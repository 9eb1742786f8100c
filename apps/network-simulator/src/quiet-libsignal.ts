/**
 * libsignal prints to the console as it works, private ratchet keys included (`Closing session:` with the whole record).
 * Nothing of this process writes through the console, so these are turned off as a whole.
 */
export function quietLibsignal(): void {
  const nothing = (): void => undefined;
  console.info = nothing;
  console.warn = nothing;
  console.error = nothing;
  console.log = nothing;
}
