// Shapes that ECharts draws where a chart of ours wants them.
import type { CustomSeriesOption } from "echarts/charts";
import type { Style } from "../page/theme";

type Render = NonNullable<CustomSeriesOption["renderItem"]>;
type Coord = (point: [number, number]) => [number, number];
type Shape = Exclude<ReturnType<Render>, undefined | null>;

// A series that draws one shape per item, which is given where points of the axes are in pixels.
export function drawn<Item>(items: Item[], shape: (item: Item, coord: Coord) => object, z = 2): object {
  return {
    type: "custom",
    coordinateSystem: "cartesian2d",
    silent: true,
    clip: true,
    z,
    // Where things are is in the items; ECharts counts them.
    data: items.map(() => [0, 0]),
    renderItem: (parameters: { dataIndex: number }, api: { coord: Coord }) =>
      shape(items[parameters.dataIndex] as Item, (point) => api.coord(point)) as Shape,
  };
}

export function line(from: [number, number], to: [number, number], style: object): object {
  return { type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style };
}

export function rect(one: [number, number], other: [number, number], style: object): object {
  const [left, top] = [Math.min(one[0], other[0]), Math.min(one[1], other[1])];
  const [width, height] = [Math.abs(one[0] - other[0]), Math.abs(one[1] - other[1])];
  return { type: "rect", shape: { x: left, y: top, width, height }, style };
}

export function text(at: [number, number], content: string, style: object): object {
  return {
    type: "text",
    x: at[0],
    y: at[1],
    style: { text: content, align: "center", verticalAlign: "middle", fontSize: 12, ...style },
  };
}

export function group(...children: (object | null)[]): object {
  return { type: "group", children: children.filter((child) => child !== null) };
}

// From one end to the other with a bar at each.
export function interval(
  low: [number, number],
  high: [number, number],
  { colour }: Style,
  width = 5,
): object {
  const style = { stroke: colour, lineWidth: 1.6 };
  return group(
    line(low, high, style),
    line([low[0] - width, low[1]], [low[0] + width, low[1]], style),
    line([high[0] - width, high[1]], [high[0] + width, high[1]], style),
  );
}
