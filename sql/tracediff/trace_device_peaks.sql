-- trace_device_peaks: peaks from the data sheets of devices: FLOP/s per type, and memory bandwidth.
-- Family: operators and kernels
-- Question: Which share of its device's peak does a kernel reach?
--
-- Parameters
--   :name  TEXT  name of a device as in traces; default all
-- Columns
--   device  TEXT  LIKE pattern that matches names of the device
--   type    TEXT  'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8', 'int8' or 'memory'
--   peak    REAL  peak in this unit; for int8, operations count as FLOPs
--   unit    TEXT  'TFLOP/s', or 'GB/s' for memory
--   source  TEXT  data sheet
-- Grain: one row per device and type whose peak is known, by device.
-- Rules:
--   1. Peaks are for dense matrices. Most NVIDIA sheets state peaks with sparsity, which are twice as high. float32 is
--      full precision, even on devices with a faster tf32. Sums are in float32; for int8, in int32.
--   2. In traces, a device of AMD's MI250X is one of its two dies, so it has half of the data sheet's peak.
--   3. CREATE TEMP TABLE trace_device_peaks AS SELECT * FROM trace_device_peaks makes a table of your own, which you
--      can change. A table with these columns replaces this function, including in trace_diff_by. If it has several
--      rows for a device and type, the last one counts.
WITH sheet(device, source, float64, float32, tf32, float16, bfloat16, float8, int8, memory) AS (VALUES
  -- NVIDIA V100 data sheet (volta-v100-datasheet-update-us-1165301-r5)
  ('%V100-SXM2-__GB', 'NVIDIA V100 data sheet', 7.8, 15.7, NULL, 125, NULL, NULL, NULL, 900),
  ('%V100-PCIE-__GB', 'NVIDIA V100 data sheet', 7, 14, NULL, 112, NULL, NULL, NULL, 900),
  -- NVIDIA T4 data sheet (t4-tensor-core-datasheet-951643)
  ('%Tesla T4', 'NVIDIA T4 data sheet', NULL, 8.1, NULL, 65, NULL, NULL, 130, 320),
  -- NVIDIA A100 data sheet (nvidia-a100-datasheet-us-nvidia-1758950-r4-web), double precision by tensor cores
  ('%A100-SXM4-40GB', 'NVIDIA A100 data sheet', 19.5, 19.5, 156, 312, 312, NULL, 624, 1555),
  ('%A100-SXM4-80GB', 'NVIDIA A100 data sheet', 19.5, 19.5, 156, 312, 312, NULL, 624, 2039),
  ('%A100-PCIE-40GB', 'NVIDIA A100 data sheet', 19.5, 19.5, 156, 312, 312, NULL, 624, 1555),
  ('%A100 80GB PCIe', 'NVIDIA A100 data sheet', 19.5, 19.5, 156, 312, 312, NULL, 624, NULL),
  -- NVIDIA GA102 and Ada whitepapers, FP16 with sums in FP32
  ('%GeForce RTX 3090', 'NVIDIA GA102 whitepaper', NULL, 35.6, 35.6, 71, 71, NULL, 284, 936),
  ('%GeForce RTX 4090', 'NVIDIA Ada whitepaper', NULL, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6, 1008),
  -- NVIDIA L4, L40 and L40S data sheets
  ('%NVIDIA L4', 'NVIDIA L4 data sheet', NULL, 30.3, 60, 121, 121, 242.5, 242.5, 300),
  ('%NVIDIA L40', 'NVIDIA L40 data sheet', NULL, 90.5, 90.5, 181.05, 181.05, 362, 362, 864),
  ('%NVIDIA L40S', 'NVIDIA L40S data sheet', NULL, 91.6, 183, 362.05, 362.05, 733, 733, 864),
  -- NVIDIA H100 data sheet and Hopper whitepaper, NVIDIA H200 data sheet
  ('%H100 80GB HBM3', 'NVIDIA H100 data sheet', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3350),
  ('%H100 PCIe', 'NVIDIA H100 data sheet', 51, 51, 378, 756, 756, 1513, 1513, 2000),
  ('%H100 NVL', 'NVIDIA H100 data sheet', NULL, NULL, NULL, 835, 835, NULL, NULL, NULL),
  ('%NVIDIA H200', 'NVIDIA H200 data sheet', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4800),
  -- NVIDIA Blackwell data sheet, HGX B200
  ('%NVIDIA B200', 'NVIDIA Blackwell data sheet', 40, 80, 1100, 2250, 2250, 4500, 4500, 8000),
  -- AMD Instinct MI200 and MI300 data sheets, matrix cores
  ('%Instinct MI210', 'AMD Instinct MI210 data sheet', 45.3, 45.3, NULL, 181, 181, NULL, 181, 1638.4),
  ('%Instinct MI250X', 'half of AMD Instinct MI250X data sheet', 47.85, 47.85, NULL, 191.5, 191.5, NULL, 191.5, 1638.4),
  ('%Instinct MI300X', 'AMD Instinct MI300X data sheet', NULL, NULL, NULL, 1307.4, 1307.4, 2614.9, NULL, 5300)),
type(position, type, unit) AS (VALUES
  (1, 'float64', 'TFLOP/s'), (2, 'float32', 'TFLOP/s'), (3, 'tf32', 'TFLOP/s'), (4, 'float16', 'TFLOP/s'),
  (5, 'bfloat16', 'TFLOP/s'), (6, 'float8', 'TFLOP/s'), (7, 'int8', 'TFLOP/s'), (8, 'memory', 'GB/s')),
peak AS (
  SELECT device, position, type, unit, source,
         CAST(CASE type WHEN 'float64' THEN float64 WHEN 'float32' THEN float32 WHEN 'tf32' THEN tf32
                        WHEN 'float16' THEN float16 WHEN 'bfloat16' THEN bfloat16 WHEN 'float8' THEN float8
                        WHEN 'int8' THEN int8 ELSE memory END AS REAL) AS peak
  FROM sheet CROSS JOIN type
  WHERE :name IS NULL OR :name LIKE device)
SELECT device, type, peak, unit, source
FROM peak
WHERE peak IS NOT NULL
ORDER BY device, position;
