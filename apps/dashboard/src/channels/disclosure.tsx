import { UnstyledButton } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';

/** A line that opens and closes what is below it. */
export function Disclosure({ label, children }: { label: ReactNode; children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  return (
    <div>
      <UnstyledButton
        className="event-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span aria-hidden>{isOpen ? '▾' : '▸'}</span>
        {label}
      </UnstyledButton>
      {isOpen && <div id={id}>{children}</div>}
    </div>
  );
}
