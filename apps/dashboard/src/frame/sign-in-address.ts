/** Where somebody signs in, or enters the code that their session waits for, and comes back to a path afterwards. */
export function signInAddress(missing: 'none' | 'needs-code', path: string): string {
  return missing === 'needs-code'
    ? `/sign-in/code?return_to=${encodeURIComponent(path)}`
    : `/sign-in?returnTo=${encodeURIComponent(path)}`;
}
