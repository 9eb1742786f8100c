/** `npm start`: Dormouse on this machine, talking to the real network. */
import { readCommandLine } from './command-line.js';
import { addressRows, launch, readOrExit, table } from './launcher.js';

const options = readOrExit(() => readCommandLine(process.argv.slice(2), 'start'));

await launch(options, 'real', (stack) => {
  const { edge, controlPlane } = stack.urls;
  process.stdout.write(`
Dormouse is ready.

${table([...addressRows(stack), ['Data', options.dataDir]])}

Next: create a channel, then open its login image and scan it with a phone (Linked devices, Link a device).

  curl -s ${controlPlane}/api/v1/channels -H 'Authorization: Bearer ${stack.accountKey}' \\
    -H 'Content-Type: application/json' -d '{"name":"My number","region":"sg"}'
  ${edge.sg}/users/login/image?token=<the token in the answer>

Ctrl-C stops everything; the next start finds channels still linked.
`);
  return Promise.resolve();
});
