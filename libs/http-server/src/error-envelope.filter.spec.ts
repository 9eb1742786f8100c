import { openLog } from '@dormouse/bootstrap';
import type { ArgumentsHost } from '@nestjs/common';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';

function levelsLogged(thrown: unknown, { gone }: { gone: boolean }): string[] {
  const levels: string[] = [];
  const destination = { write: (line: string) => void levels.push((JSON.parse(line) as { level: string }).level) };
  const filter = new ErrorEnvelopeFilter(
    { docsUrl: 'https://docs.example.com', supportAddress: 'support@example.com' },
    openLog({ name: 'spec', destination }),
  );
  const reply = { raw: { destroyed: gone }, sent: true };
  const request = { id: 'request-1', raw: {} };
  filter.catch(thrown, {
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => reply }),
  } as ArgumentsHost);
  return levels;
}

describe('ErrorEnvelopeFilter', () => {
  it('logs no error for a client that left before its answer, and one for everything unexpected', () => {
    const aborted = new DOMException('This operation was aborted', 'AbortError');
    expect(levelsLogged(aborted, { gone: true })).toEqual(['info']);
    expect(levelsLogged(aborted, { gone: false })).toEqual(['error']);
    expect(levelsLogged(new Error('broken'), { gone: true })).toEqual(['error']);
  });
});
