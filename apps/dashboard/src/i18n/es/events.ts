import type { Catalogue } from '../catalogue.js';

export const events: Catalogue['events'] = {
  way: 'Qué eventos',
  live: {
    name: 'En directo',
    about: 'Los eventos según ocurren.',
    none: 'No ha ocurrido nada desde que abriste esta página.',
    state: {
      opening: 'Conectando',
      open: 'En directo',
      away: 'Conexión perdida; se abre de nuevo por sí sola',
      paused: 'En pausa',
    },
    waiting: 'Nuevos: {{n}}',
    pause: 'Pausar',
    continue: 'Continuar',
    clear: 'Vaciar',
    more: 'Se muestran los {{n}} más recientes. Todos están en «Guardados».',
  },
  stored: {
    name: 'Guardados',
    about: 'Los eventos en orden, como tu programa los lee por cursor.',
    after: 'Después del evento número',
    go: 'Mostrar',
    none: 'No hay eventos después de este.',
    before: 'Anterior',
    next: 'Siguiente',
    cursor: 'Cursor: {{cursor}}',
  },
  row: { facts: 'Evento {{sequence}}, {{id}}, {{time}}', body: 'Contenido del evento' },
};
