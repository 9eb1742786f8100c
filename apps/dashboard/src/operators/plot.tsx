import 'uplot/dist/uPlot.min.css';
import { Table, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { useTimes } from '../channels/times.js';
import { Disclosure } from '../channels/disclosure.js';

export interface Line {
  label: string;
  values: readonly (number | undefined)[];
}

interface PlotProps {
  title: string;
  /** Epoch seconds. */
  times: readonly number[];
  lines: readonly Line[];
  /** What the values are: `ms`. */
  unit?: string;
}

const HEIGHT_PX = 180;
const COLOURS = {
  light: { axis: '#495057', grid: '#dee2e6', lines: ['#2a674a', '#1864ab', '#a61e4d', '#5f3dc4'] },
  dark: { axis: '#ced4da', grid: '#424242', lines: ['#8ac0a5', '#74c0fc', '#faa2c1', '#b197fc'] },
};
/** Lines differ by dashes, too, not by colour alone. */
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Values over time. Who cannot see it opens the same numbers as a table. */
export function Plot({ title, times, lines, unit = '' }: PlotProps) {
  const { t } = useTranslation('operators');
  const { clock } = useTimes();
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const data = JSON.stringify([times, ...lines.map(({ values }) => values.map((value) => value ?? null))]);
  const labels = lines.map(({ label }) => label).join('\n');
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const { axis, grid, lines: strokes } = COLOURS[scheme];
    const axisOptions = { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        series: [
          {},
          ...labels.split('\n').map((label, index) => ({
            label,
            stroke: strokes[index % strokes.length] ?? axis,
            dash: DASHES[index % DASHES.length] ?? [],
            width: 2,
            spanGaps: false,
          })),
        ],
        axes: [axisOptions, { ...axisOptions, size: 56 }],
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.1, 1)] } },
        legend: { show: false },
        cursor: { show: false },
      },
      JSON.parse(data) as uPlot.AlignedData,
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, labels, scheme]);
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="xs" c="dimmed">
        {lines.map(({ label }, index) => `${['―', '╌', '┈', '┄'][index % 4]} ${label}`).join('   ')}
      </Text>
      <div ref={place} role="img" aria-label={title} style={{ width: '100%', overflow: 'hidden' }} />
      <Disclosure label={t('plot.numbers')}>
        <Table.ScrollContainer minWidth={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('plot.time')}</Table.Th>
                {lines.map(({ label }) => (
                  <Table.Th key={label}>{label}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {times.map((time, at) => (
                <Table.Tr key={time}>
                  <Table.Td>{clock(time * 1_000)}</Table.Td>
                  {lines.map(({ label, values }) => (
                    <Table.Td key={label}>{values[at] === undefined ? '–' : `${values[at]} ${unit}`.trim()}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Disclosure>
    </div>
  );
}
